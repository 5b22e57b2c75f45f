import type { Principal } from '@plinth/kernel';
import type { VirtualTable } from '../../sql/planned-query.js';
import { nanosOfMs, systemTable, TEXT, TIME_MS } from '../system-table.js';

/** Changes of the whole server, which this service does not keep itself. */
export interface AuditTrail {
  /** Oldest first. */
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

/** The last changes through routes of the operator and by statements. */
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
