"""placeholder until the store lands"""

from __future__ import annotations

NAMESPACE = "filled"
