"""For tests of permissions, which do not hold for the superuser."""

WITHOUT_POWER = """
import ctypes, os, sys

PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2
if os.geteuid() == 0 and sys.argv[-1] != "without power":
    # Begin again without the two capabilities that pass over permissions.
    libc = ctypes.CDLL(None)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        assert libc.prctl(PR_CAPBSET_DROP, capability) == 0
    os.execv(sys.executable, [*sys.orig_argv, "without power"])
if sys.argv[-1] == "without power":
    del sys.argv[-1]
"""
"""The beginning of a program that goes on as somebody that permissions hold for, with the arguments that it was given."""
