"""Released trees and forests: plain public values. Nothing here ever sees a private record."""
