"""What holds private records and shows none of them: no length, no iteration, no array, no copy, no pickle."""

from __future__ import annotations

from typing import NoReturn

from privet.errors import PrivacyError

_REFUSAL = "records leave a PrivateDataset only through its queries; use noisy_count, class_counts, choose, ..."


class Sealed:
    """The base of what an analyst holds of private records."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise PrivacyError(_REFUSAL)

    __len__ = __iter__ = __getitem__ = __contains__ = __bool__ = __array__ = _refuse
    __reduce_ex__ = __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
