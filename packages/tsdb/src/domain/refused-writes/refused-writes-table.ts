import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { systemTable, TEXT, TIME_NS, UINT64 } from '../system-tables/system-table.js';
import type { RefusedWrites } from './refused-writes.js';

/**
 * Latest refused rows of the database; in the internal database, those of all databases that the principal may read.
 * Only administrators can see the senders.
 */
export function refusedWritesTable(
  refusedWrites: RefusedWrites,
  { name }: DatabaseSchema,
  access: DatabaseAccess,
): VirtualTable {
  const columns = {
    time: TIME_NS,
    database: TEXT,
    protocol: TEXT,
    reason: TEXT,
    line_number: UINT64,
    line: TEXT,
    message: TEXT,
    sender: TEXT,
    address: TEXT,
  };
  return systemTable(columns, () =>
    refusedWrites
      .entries()
      .filter(({ database }) =>
        name === INTERNAL_DATABASE ? access.mayRead(database) : database === name,
      )
      .map(({ timeNs, lineNumber, ...row }) => ({
        ...row,
        ...(!access.isAdministrator && { sender: undefined, address: undefined }),
        time: timeNs,
        line_number: BigInt(lineNumber),
      })),
  );
}
