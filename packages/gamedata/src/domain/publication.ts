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
  /** Kinds whose draft this version publishes. */
  readonly kinds: readonly Kind[];
  /** Draft after the publication. */
  readonly draft: DataSet;
  /** Whether to reset the draft even if nothing differs and no version is published. */
  readonly dropsDraft: boolean;
  /** Whether changes of single records by other nodes also count as a conflict. */
  readonly isStrict?: boolean;
  /** Runs in the transaction that makes the version durable. */
  readonly also?: (tx: EditionTransaction, published: Published) => Promise<void>;
}

export type PublicationListener = (
  edition: Edition,
  /** `undefined` when another node has published the version. */
  options: { readonly durationMs: number | undefined },
) => void;

export interface Published {
  readonly version: Version;
  readonly changed: number;
}

const MAX_EVENT_RECORDS = 1000;

/** Returns the payload of a publication event. Source: gamedata, section 5. */
export function describePublication(options: {
  readonly version: Version;
  readonly previous: Version;
  readonly changes: readonly RecordChange[];
  readonly action: Publication['action'];
}): object {
  const { version, previous, changes, action } = options;
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
