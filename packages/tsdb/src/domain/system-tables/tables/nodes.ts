import type { VirtualTable } from '../../sql/planned-query.js';
import { listOf, nanosOfMs, systemTable, TEXT, TIME_MS, UINT32, UINT64 } from '../system-table.js';

export interface NodeFacts {
  /** Label that the operator gave. */
  readonly nodeId: string;
  readonly nodeUuid: string;
  readonly coreCount: number;
  /** When it began to run. */
  readonly startedMs: number;
}

/** This node, the only one over its catalog. Its command line is not shown: it may name what is secret. */
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
