import type { Principal } from '@plinth/kernel';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { nanosOfMs, systemTable, TEXT, TIME_MS } from '../system-table.js';

/** Audit log of the server, provided by another service. */
export interface AuditTrail {
  /** Returns the entries, oldest first. */
  entries(): readonly {
    readonly timeMs: number;
    readonly who: string | undefined;
    readonly address: string;
    readonly action: string;
    readonly target: string;
    readonly result: string;
  }[];
  note(
    principal: Principal,
    change: {
      readonly address: string;
      readonly action: string;
      readonly target: string;
      readonly result: string;
    },
  ): void;
}

/** The latest changes by operator routes and by statements. */
export function auditTable(trail: AuditTrail | undefined): VirtualTable {
  const columns = {
    time: TIME_MS,
    who: TEXT,
    address: TEXT,
    action: TEXT,
    target: TEXT,
    result: TEXT,
  };
  return systemTable(columns, () =>
    (trail?.entries() ?? []).map(({ timeMs, ...entry }) => ({ ...entry, time: nanosOfMs(timeMs) })),
  );
}
