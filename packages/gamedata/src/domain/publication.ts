import type { HistoryOp, RecordChange, Version } from '../model/edition.js';
import { byTypeKey, type Kind } from '../model/kinds.js';
import type { EditionTransaction } from '../storage/edition-store.js';
import type { DataSet } from './data/data-set.js';

/** A version with its records. */
export interface Edition {
  readonly version: Version;
  readonly set: DataSet;
}

export interface Publication {
  readonly actor: string;
  readonly message: string;
  readonly source: string;
  readonly action: 'published' | 'imported' | 'restored';
  readonly op: HistoryOp;
  /** Kinds whose draft becomes this version. */
  readonly kinds: readonly Kind[];
  /** What the draft is afterwards. */
  readonly draft: DataSet;
  /** Also where nothing is published because nothing differs. */
  readonly dropsDraft: boolean;
  /** It was made of what may not have changed meanwhile, not by single records either. */
  readonly isStrict?: boolean;
  /** Runs in the transaction that makes the version durable. */
  readonly also?: (tx: EditionTransaction, published: Published) => Promise<void>;
}

export type PublicationListener = (
  edition: Edition,
  /** `undefined`: another node has published it. */
  about: { readonly durationMs: number | undefined },
) => void;

export interface Published {
  readonly version: Version;
  readonly changed: number;
}

const MAX_EVENT_RECORDS = 1000;

/** What the others are told of it. Source: gamedata, section 5. */
export function describePublication(at: {
  readonly version: Version;
  readonly previous: Version;
  readonly changes: readonly RecordChange[];
  readonly action: Publication['action'];
}): object {
  const { version, previous, changes, action } = at;
  return {
    action,
    version: {
      number: version.version,
      previous: previous.version || null,
      publishedAt: new Date(version.publishedMs).toISOString(),
      message: version.message,
      actor: version.actor,
      counts: byTypeKey(version.counts),
    },
    changes: {
      total: changes.length,
      truncated: changes.length > MAX_EVENT_RECORDS,
      records: changes.slice(0, MAX_EVENT_RECORDS).map(({ kind, id, op }) => ({ kind, id, op })),
    },
    service: 'game-data',
  };
}
