import type { PluginCall, RunOutcome } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { FrameHeader } from './plugin-frames.js';

/** Returns the frame that starts a run. Source: docs/formats/plugin-frames.md. */
export function callFrame(
  id: number,
  trigger: string,
  call: PluginCall,
): { readonly header: FrameHeader; readonly parts?: readonly Uint8Array[] } {
  const { input } = call;
  const header: FrameHeader = {
    t: 'call',
    id,
    trigger,
    db: call.database,
    kind: input.kind,
    args: call.args === undefined ? null : Object.fromEntries(call.args),
    dry: call.isDryRun,
    cache: { ns: call.cache.namespace, default_ttl: call.cache.defaultTtlSec ?? null },
  };
  switch (input.kind) {
    case 'writes': {
      const batches = input.batches.map(({ table, rowCount, columns }) => ({
        table,
        n: rowCount,
        cols: columns,
      }));
      return { header: { ...header, batches }, parts: input.parts };
    }
    case 'schedule':
      return { header: { ...header, time: input.timeSec } };
    case 'request':
      return {
        header: { ...header, query: input.query, headers: input.headers },
        parts: [input.body],
      };
  }
}

/** Sent by the worker; see docs/formats/plugin-frames.md. */
interface DoneHeader {
  readonly ok: boolean;
  readonly writes?: readonly { readonly db: string; readonly sizes: readonly number[] }[];
  readonly response?: { readonly status: number; readonly headers: readonly [string, string][] };
  readonly err?: {
    readonly text: string;
    readonly traceback: string;
    readonly inside: boolean;
  };
}

/** Converts the worker's final frame of a run to its outcome. */
export function outcomeOf(header: FrameHeader, body: Buffer): RunOutcome {
  const done = header as unknown as DoneHeader;
  if (!done.ok) {
    return {
      kind: 'failed',
      text: done.err?.text ?? 'unknown failure',
      traceback: done.err?.traceback ?? '',
      isInside: done.err?.inside ?? false,
    };
  }
  let offset = 0;
  const writes = (done.writes ?? []).map(({ db, sizes }) => ({
    database: db,
    lines: sizes.map((size) => {
      offset += size;
      return body.subarray(offset - size, offset);
    }),
  }));
  const response = done.response && { ...done.response, body: body.subarray(offset) };
  return { kind: 'done', writes, response };
}
