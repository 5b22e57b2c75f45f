import type { MessagePort } from 'node:worker_threads';
import { tsdbError } from '../../../errors.js';
import type { OutputColumn } from '../../../model/columns/result.js';
import type { ScanRequest } from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import type { WrittenPlan } from '../plan-maker.js';
import type { ParameterValue } from '../planned-query.js';

/** What the thread is started with: where it asks, and the counter that wakes it when the reply is there. */
export interface PlannerSettings {
  readonly questions: MessagePort;
  readonly replyCount: SharedArrayBuffer;
}

/** One statement to plan. Tables stay where they are; the thread asks for those that it needs. */
export interface PlannerJob {
  readonly text: string;
  readonly nowNs: bigint;
  readonly params: ReadonlyMap<string, ParameterValue>;
  readonly systemTableNames: readonly string[];
}

export type Question =
  | { readonly kind: 'table_names' }
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'virtual_table'; readonly schema: string; readonly name: string }
  | {
      readonly kind: 'table_function';
      readonly name: string;
      readonly args: readonly ParameterValue[];
    };

/** A table without storage with its rows. */
export interface WrittenRows {
  readonly columns: readonly OutputColumn[];
  readonly otherNames: ReadonlyMap<string, string> | undefined;
  readonly rows: readonly (readonly unknown[])[];
}

/** A table function that is read when the query runs: its source stays behind, under a number. */
export interface NumberedSource {
  readonly sourceIndex: number;
  readonly table: TableSchema;
}

export type Answer = readonly string[] | TableSchema | WrittenRows | NumberedSource | undefined;
export type Reply = { readonly answer: Answer } | { readonly failure: Failure };

/** A scan whose table is the one of that name, or that of the numbered source. */
export interface WrittenScan extends Omit<ScanRequest, 'table' | 'source'> {
  readonly from: { readonly tableName: string } | { readonly sourceIndex: number };
}

export interface SentPlan extends Omit<WrittenPlan, 'scans'> {
  readonly scans: readonly WrittenScan[];
}

export type PlannerReply = { readonly plan: SentPlan } | { readonly failure: Failure };

/** An error on its way between threads. */
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
