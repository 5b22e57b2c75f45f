import type { MessagePort } from 'node:worker_threads';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SerializedPlan } from '../statement-planner.js';

/**
 * Startup data of the thread: its request port, and the counter that wakes it when a reply was
 * sent.
 */
export interface PlannerSettings {
  readonly requestPort: MessagePort;
  readonly replyCount: SharedArrayBuffer;
}

/** One statement to plan. The thread requests the tables that it needs. */
export interface PlannerJob {
  readonly text: string;
  readonly nowNs: bigint;
  readonly params: ReadonlyMap<string, ParameterValue>;
  readonly lookbackNs: bigint;
  readonly systemTableNames: readonly string[];
  /** See `DatabaseSchema`. */
  readonly formerTables: ReadonlyMap<string, string> | undefined;
}

export type PlannerRequest =
  | { readonly kind: 'table_names' }
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'virtual_table'; readonly schema: string; readonly name: string }
  | {
      readonly kind: 'table_function';
      readonly name: string;
      readonly args: readonly ParameterValue[];
    };

/** The rows of a virtual table. */
export interface WrittenRows {
  readonly columns: readonly OutputColumn[];
  readonly otherNames: ReadonlyMap<string, string> | undefined;
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * A table function that is read when the query runs. Its source stays in the main thread and is
 * identified by number.
 */
export interface SourceReference {
  readonly sourceIndex: number;
  readonly table: TableSchema;
}

export type Result = readonly string[] | TableSchema | WrittenRows | SourceReference | undefined;
export type Reply = { readonly result: Result } | { readonly failure: Failure };

/** A scan that identifies its table by name or by the number of a source. */
export interface WrittenScan extends Omit<ScanRequest, 'table' | 'source'> {
  readonly from: { readonly tableName: string } | { readonly sourceIndex: number };
}

export interface SentPlan extends Omit<SerializedPlan, 'scans'> {
  readonly scans: readonly WrittenScan[];
}

export type PlannerReply = { readonly plan: SentPlan } | { readonly failure: Failure };

/** An error in the form in which it is sent between threads. */
export interface Failure {
  readonly kind: 'plan_error' | 'execution_error' | 'not_implemented' | 'too_much' | 'bug';
  readonly text: string;
}

export function failureOf(error: unknown): Failure {
  if (tsdbError.is(error, 'plan_error', 'execution_error', 'not_implemented'))
    return { kind: error.kind, text: error.details };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: 'bug', text };
}

export function errorFrom({ kind, text }: Failure): Error {
  return kind === 'too_much' || kind === 'bug' ? new Error(text) : tsdbError(kind, text);
}
