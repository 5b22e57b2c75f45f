import type { EditionReader, EditionTransaction } from '../../storage/edition-store.js';
import type { SerializedWrite } from '../ledger.js';

/** One editor request. */
export interface Attempt {
  readonly actor: string;
  /** Throws if the same request already has a stored reply. */
  readonly check?: (on?: EditionReader) => Promise<void>;
  /** Stores the reply in the transaction of the change, for repeated requests. */
  readonly keep?: (tx: EditionTransaction, reply: unknown) => Promise<void>;
}

/** An attempt with the write in which it runs. */
export interface Step {
  readonly turn: SerializedWrite;
  readonly attempt: Attempt;
}

/** Result of a decided change, and a callback to apply it in memory after it is stored. */
export interface Decided<T> {
  readonly result: T;
  readonly show?: () => void;
}
