"""Released models: plain public values. Nothing here sees a private record."""
