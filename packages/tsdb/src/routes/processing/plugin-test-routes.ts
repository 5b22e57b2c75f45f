import { jsonResponse, OpenApi, type Route, type RouteDocs } from '@plinth/kernel';
import { readDryLines } from '@plinth/tsdb-plugins/domain/runs/dry-lines.js';
import type { DryRunReport, DryRunRequest } from '@plinth/tsdb-plugins/domain/runs/dry-run.js';
import { type TProperties, Type } from 'typebox';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { PROCESSING_FAILED } from '../description.js';
import { readArguments } from './trigger-routes.js';

const OUTCOME = {
  log_lines: Type.Array(Type.String()),
  database_writes: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'line protocol by database; nothing is stored',
  }),
  errors: Type.Array(Type.String()),
};
const dryRun = (summary: string, input: TProperties, outcome: TProperties = {}): RouteDocs => ({
  summary,
  body: Type.Object({
    filename: Type.String(),
    database: Type.String(),
    code: Type.Optional(
      Type.String({ description: 'runs instead of the stored code of the plugin' }),
    ),
    cache_name: Type.Optional(
      Type.String({ description: 'runs with the same name share a cache' }),
    ),
    input_arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
    ...input,
  }),
  output: {
    200: OpenApi.response(
      'log lines, writes and errors of the run',
      OpenApi.json(Type.Object({ ...outcome, ...OUTCOME })),
    ),
  },
  errors: PROCESSING_FAILED,
});
const OF_WRITES = dryRun('Test a write plugin with the given lines', {
  input_lp: Type.String({ description: 'line protocol with nanosecond timestamps' }),
});
const OF_SCHEDULE = dryRun(
  'Test a schedule plugin',
  { schedule: Type.Optional(Type.String({ default: '* * * * * *' })) },
  { trigger_time: OpenApi.nullable(Type.String({ format: 'date-time' })) },
);

/** Source: processing-engine, "Test endpoints". */
export function pluginTestRoutes({ processing, routeBuilder, clock }: RouteDeps): readonly Route[] {
  const { dryRuns } = processing;
  const route = (
    path: string,
    docs: RouteDocs,
    run: (input: ManagementInput) => Promise<DryRunReport>,
  ): Route =>
    routeBuilder.send('POST', path, docs, async (request) =>
      jsonResponse(200, await run(ManagementInput.of(request))),
    );
  return [
    route('/api/v3/plugin_test/wal', OF_WRITES, async (input) => {
      const request = readDryRun(input);
      const lines = input.requiredText('input_lp');
      const { database } = request;
      const read = await readDryLines(lines, { database, nowNs: clock.nowNs() });
      return await dryRuns.ofWrites(request, read);
    }),
    route('/api/v3/plugin_test/schedule', OF_SCHEDULE, (input) =>
      dryRuns.ofSchedule(readDryRun(input), input.text('schedule')),
    ),
  ];
}

function readDryRun(input: ManagementInput): DryRunRequest {
  return {
    pluginFilename: input.requiredText('filename'),
    database: input.requiredText('database'),
    code: input.text('code'),
    cacheName: input.text('cache_name'),
    args: readArguments(input.exactObject('input_arguments'), 'input_arguments'),
  };
}
