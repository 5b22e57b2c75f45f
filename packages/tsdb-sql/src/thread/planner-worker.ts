import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { invariant } from '@plinth/kernel';
import type {
  PlanContext,
  ScannedTable,
  VirtualTable,
} from '@plinth/tsdb-model/query/planned-query.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { PLANNER_THREAD_LIMITS, PlanningLimitExceeded } from '../parse/planning-limits.js';
import { StatementPlanner } from '../statement-planner.js';
import {
  errorFrom,
  failureOf,
  type PlannerJob,
  type PlannerReply,
  type PlannerRequest,
  type PlannerSettings,
  type Reply,
  type Result,
  type SentPlan,
  type SourceReference,
  type WrittenRows,
} from './planner-messages.js';
import { RemoteTables } from './remote-tables.js';

/**
 * Plans statements one at a time. During a plan, it may send requests to the main thread and block
 * for the reply.
 */
async function runPlanner(): Promise<void> {
  invariant(parentPort !== null, 'the planner must run in a worker thread');
  const port = parentPort;
  const { requestPort, replyCount } = workerData as PlannerSettings; // written only by `PlannerThread`
  const counter = new Int32Array(replyCount);
  const query = (request: PlannerRequest): Result => {
    const before = Atomics.load(counter, 0);
    requestPort.postMessage(request);
    Atomics.wait(counter, 0, before);
    // The reply is sent before the counter is incremented.
    const { message } = receiveMessageOnPort(requestPort) as { readonly message: Reply };
    if ('failure' in message) throw errorFrom(message.failure);
    return message.result;
  };
  const planner = await StatementPlanner.load({ maxCachedCount: 0 });
  port.on('message', (job: PlannerJob) => port.postMessage(compute(job, planner, query)));
}

function compute(
  job: PlannerJob,
  planner: StatementPlanner,
  query: (request: PlannerRequest) => Result,
): PlannerReply {
  try {
    const { serialized } = planner.plan(job.text, contextOf(job, query), PLANNER_THREAD_LIMITS);
    const scans = serialized.scans.map(({ table, source, ...scan }): SentPlan['scans'][number] => ({
      ...scan,
      from:
        source instanceof SourceMark
          ? { sourceIndex: source.sourceIndex }
          : { tableName: table.name },
    }));
    return { plan: { ...serialized, scans } };
  } catch (error) {
    if (error instanceof PlanningLimitExceeded) {
      return { failure: { kind: 'too_much', text: error.message } };
    }
    return { failure: failureOf(error) };
  }
}

function contextOf(job: PlannerJob, query: (request: PlannerRequest) => Result): PlanContext {
  const virtualTables = new Map<string, VirtualTable | undefined>();
  return {
    nowNs: job.nowNs,
    params: job.params,
    lookbackNs: job.lookbackNs,
    // A plan does not use the other properties of a database.
    database: {
      id: 0,
      uuid: '',
      name: '',
      retentionNs: undefined,
      ...(job.formerTables && { formerTables: job.formerTables }),
      tables: new RemoteTables({
        names: () => query({ kind: 'table_names' }) as readonly string[],
        table: (name) => query({ kind: 'table', name }) as TableSchema | undefined,
      }),
    },
    virtualTables: {
      systemTableNames: job.systemTableNames,
      table(schema, name) {
        const key = JSON.stringify([schema, name]);
        if (!virtualTables.has(key)) {
          virtualTables.set(
            key,
            virtualTable(query({ kind: 'virtual_table', schema, name }) as WrittenRows | undefined),
          );
        }
        return virtualTables.get(key);
      },
      tableFunction(name, args) {
        const found = query({ kind: 'table_function', name, args }) as
          | WrittenRows
          | SourceReference
          | undefined;
        return found !== undefined && 'sourceIndex' in found
          ? scannedTable(found)
          : virtualTable(found);
      },
    },
  };
}

function virtualTable(written: WrittenRows | undefined): VirtualTable | undefined {
  if (written === undefined) return undefined;
  const { columns, otherNames, rows } = written;
  return { columns, ...(otherNames && { otherNames }), rows: () => rows };
}

function scannedTable({ sourceIndex, table }: SourceReference): ScannedTable {
  return { table, source: new SourceMark(sourceIndex) };
}

/** Placeholder for a source in the main thread. */
class SourceMark {
  readonly sourceIndex: number;

  constructor(sourceIndex: number) {
    this.sourceIndex = sourceIndex;
  }

  prepare(): never {
    throw new Error('the planner thread cannot run a plan');
  }
}

await runPlanner();
