"""The tables of the paper, reproduced: ``wellsvm reproduce``. The protocols are data, in ``protocols``."""
