import type { Kind } from '../../model/kinds.js';

/** A correction or omission made during an import. */
export interface ImportWarning {
  readonly code: string;
  readonly file?: string;
  readonly path: string;
  readonly message: string;
}

/** A record of an import. */
export interface IncomingRecord {
  readonly kind: Kind;
  readonly body: Record<string, unknown>;
  readonly file?: string;
  readonly path: string;
}

/** Content of an import, independent of its format. */
export interface Payload {
  readonly defaultLanguage: string | undefined;
  readonly languages: readonly string[];
  readonly aliases: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
  /** Iterable once, in order; a large import is parsed record by record during iteration. */
  readonly records: Iterable<IncomingRecord>;
  readonly warnings: readonly ImportWarning[];
}
