import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type { WidePlan } from '@plinth/tsdb-model/query/wide-plan.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { QueryTree } from '../plan-tree.js';
import { QueryPrinter } from './print-query.js';

/** Creates the plan of a statement for Trino. */
export function widePlan(planned: {
  readonly scans: readonly ScanRequest[];
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
  readonly tree: QueryTree;
}): WidePlan {
  const { tree, ...plan } = planned;
  return { ...plan, print: (tableOf) => new QueryPrinter(tableOf).print(tree) };
}
