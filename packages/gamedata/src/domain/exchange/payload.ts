import type { Kind } from '../../model/kinds.js';

/** Something in an import that was put right or left out. */
export interface ImportWarning {
  readonly code: string;
  readonly file?: string;
  readonly path: string;
  readonly message: string;
}

/** A record as an import brings it. */
export interface IncomingRecord {
  readonly kind: Kind;
  readonly body: Record<string, unknown>;
  readonly file?: string;
  readonly path: string;
}

/** What an import consists of, whatever format it had. */
export interface Payload {
  readonly defaultLanguage: string | undefined;
  readonly languages: readonly string[];
  readonly aliases: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
  /** Read once, in order; a large import is parsed record by record while it is. */
  readonly records: Iterable<IncomingRecord>;
  readonly warnings: readonly ImportWarning[];
}
