import type { EditionReader, EditionTransaction } from '../../storage/edition-store.js';
import type { SerializedWrite } from '../ledger.js';

/** One request of an editor. */
export interface Attempt {
  readonly actor: string;
  /** Throws what ends the attempt when the same request has had its reply. */
  readonly check?: (on?: EditionReader) => Promise<void>;
  /** Stores the reply in the transaction of the change, so that the same request gets it again. */
  readonly keep?: (tx: EditionTransaction, reply: unknown) => Promise<void>;
}

/** The attempt whose turn it is. */
export interface Step {
  readonly turn: SerializedWrite;
  readonly attempt: Attempt;
}

/** What a change has come to: its result, and how it shows once it is stored. */
export interface Decided<T> {
  readonly result: T;
  readonly show?: () => void;
}
