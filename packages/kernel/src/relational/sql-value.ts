import { storeError } from './relational-errors.js';
import type { SqlValue } from './sqlite/worker-protocol.js';

/**
 * What a statement may be given. The check is strict because the native driver ends the process on a type that
 * it does not know, and because a wrong type silently stored is worse than a refusal.
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
      throw storeError('value_refused', 'integer does not fit into 64 bits');
    default:
      if (value === null) return null;
      // A view is copied: it would take its whole underlying buffer along to the other thread.
      if (value instanceof Uint8Array) {
        return value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
      }
      throw storeError('value_refused', 'values are text, numbers, bytes or null');
  }
}
