import { totalmem } from 'node:os';

/**
 * Returns the amount of memory in bytes that this process may use: the machine's, or the limit of its container or
 * unit.
 */
export function machineMemoryBytes(): number {
  // 0 or more than the machine's memory: no limit is set.
  const boundBytes = process.constrainedMemory();
  return boundBytes > 0 ? Math.min(boundBytes, totalmem()) : totalmem();
}
