import type { EditionReader, EditionTransaction } from '../../storage/edition-store.js';
import type { SerializedWrite } from '../ledger.js';

/** One editor request. */
export interface EditRequest {
  readonly actor: string;
  /** Throws if the same request already has a stored reply. */
  readonly refuseRepeated?: (on?: EditionReader) => Promise<void>;
  /** Stores the reply in the transaction of the change, for repeated requests. */
  readonly storeReply?: (tx: EditionTransaction, reply: unknown) => Promise<void>;
}

/** An editor request with the write in which it runs. */
export interface Step {
  readonly write: SerializedWrite;
  readonly editRequest: EditRequest;
}

/** Result of a decided change, and a callback to apply it in memory after it is stored. */
export interface DecidedChange<T> {
  readonly result: T;
  readonly applyInMemory?: () => void;
}
