import { jsonAnswer, type Route } from '@plinth/kernel';
import { readDryLines } from '../../domain/processing/dry-lines.js';
import type { DryRunReport, DryRunRequest } from '../../domain/processing/dry-run.js';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { readArguments } from './trigger-routes.js';

/** Source: processing-engine, "Test endpoints". */
export function pluginTestRoutes({ processing, admin, clock }: RouteDeps): readonly Route[] {
  const { dryRuns } = processing;
  const route = (path: string, run: (input: ManagementInput) => Promise<DryRunReport>): Route =>
    admin.send('POST', path, async (request) =>
      jsonAnswer(200, await run(ManagementInput.of(request))),
    );
  return [
    route('/api/v3/plugin_test/wal', async (input) => {
      const request = readDryRun(input);
      const lines = input.requiredText('input_lp');
      const { database } = request;
      const read = await readDryLines(lines, { database, nowNs: clock.nowNs() });
      return await dryRuns.ofWrites(request, read);
    }),
    route('/api/v3/plugin_test/schedule', (input) =>
      dryRuns.ofSchedule(readDryRun(input), input.text('schedule')),
    ),
  ];
}

function readDryRun(input: ManagementInput): DryRunRequest {
  return {
    pluginFilename: input.requiredText('filename'),
    database: input.requiredText('database'),
    cacheName: input.text('cache_name'),
    args: readArguments(input.exactObject('input_arguments'), 'input_arguments'),
  };
}
