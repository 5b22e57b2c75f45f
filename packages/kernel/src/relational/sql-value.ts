import { storeError } from './relational-errors.js';
import type { SqlValue } from './sqlite/worker-protocol.js';

/**
 * Validates a statement parameter. The check is strict because the native driver ends the process on an unknown type, and
 * because a silently stored wrong type is worse than an error.
 */
export function toSqlValue(value: unknown): SqlValue {
  switch (typeof value) {
    case 'string':
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'undefined':
      return null;
    case 'bigint':
      if (BigInt.asIntN(64, value) === value) return value;
      throw storeError('value_refused', 'integer is outside the 64-bit range');
    default:
      if (value === null) return null;
      // A view is copied; otherwise its complete buffer would be transferred to the other thread.
      if (value instanceof Uint8Array) {
        return value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
      }
      throw storeError('value_refused', 'unsupported value type; use text, numbers, bytes or null');
  }
}
