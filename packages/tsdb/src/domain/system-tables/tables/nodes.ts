import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { listOf, nanosOfMs, systemTable, TEXT, TIME_MS, UINT32, UINT64 } from '../system-table.js';

export interface NodeFacts {
  /** Name of the node, set by the operator. */
  readonly nodeId: string;
  readonly nodeUuid: string;
  readonly coreCount: number;
  /** Start time of the process. */
  readonly startedMs: number;
}

/** The only node of this catalog. The command line is not shown, because it may contain secrets. */
export function nodesTable(node: NodeFacts): VirtualTable {
  const columns = {
    node_id: TEXT,
    node_catalog_id: UINT32,
    instance_id: TEXT,
    mode: listOf(TEXT),
    core_count: UINT64,
    state: TEXT,
    updated_at: TIME_MS,
    cli_params: TEXT,
  };
  return systemTable(columns, () => [
    {
      node_id: node.nodeId,
      node_catalog_id: 0,
      instance_id: node.nodeUuid,
      mode: ['core'],
      core_count: node.coreCount,
      state: 'running',
      updated_at: nanosOfMs(node.startedMs),
      cli_params: undefined,
    },
  ]);
}
