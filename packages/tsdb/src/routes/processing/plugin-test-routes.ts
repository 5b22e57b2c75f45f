import type { FastifyInstance } from 'fastify';
import { readDryLines } from '../../domain/processing/dry-lines.js';
import type { DryRunReport, DryRunRequest } from '../../domain/processing/dry-run.js';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { sendError, sendFailure } from '../to-wire.js';
import { readArguments } from './trigger-routes.js';

/** Source: processing-engine, "Test endpoints (dry run)". */
export function registerPluginTestRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { dryRuns } = deps.processing;
  const route = (url: string, run: (input: ManagementInput) => Promise<DryRunReport>): void => {
    app.route({
      method: 'POST',
      url,
      errorHandler: (error, _request, reply) =>
        sendError(error, reply, { dialect: 'native', log: deps.log }),
      handler: async (request, reply) => {
        sendFailure(reply, 200, await run(ManagementInput.of(request)));
        return reply;
      },
    });
  };
  route('/api/v3/plugin_test/wal', async (input) => {
    const request = readDryRun(input);
    const lines = input.requiredText('input_lp');
    const { database } = request;
    return await dryRuns.ofWrites(
      request,
      await readDryLines(lines, { database, nowNs: deps.clock.nowNs() }),
    );
  });
  route('/api/v3/plugin_test/schedule', (input) =>
    dryRuns.ofSchedule(readDryRun(input), input.text('schedule')),
  );
}

function readDryRun(input: ManagementInput): DryRunRequest {
  return {
    pluginFilename: input.requiredText('filename'),
    database: input.requiredText('database'),
    cacheName: input.text('cache_name'),
    args: readArguments(input.exactObject('input_arguments'), 'input_arguments'),
  };
}
