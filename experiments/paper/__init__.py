"""The tables of the paper, reproduced: ``make reproduce``. The protocols are data, in ``protocols``."""
