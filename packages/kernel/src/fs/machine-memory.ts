import { totalmem } from 'node:os';

/** Bytes that this process may have: the machine's, or what its container or unit is given of them. */
export function machineMemoryBytes(): number {
  // 0 or more than there is: nobody has set a bound.
  const boundBytes = process.constrainedMemory();
  return boundBytes > 0 ? Math.min(boundBytes, totalmem()) : totalmem();
}
