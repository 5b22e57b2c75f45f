import type { PluginInput } from '@plinth/tsdb-model/plugins/plugin-host.js';

/** Log lines of the processing engine by trigger kind. */
export const TRIGGER_MESSAGES = {
  writes: {
    plugin: 'wal plugin',
    start: 'starting execution of wal plugin.',
    failed: 'error executing wal plugin',
  },
  schedule: {
    plugin: 'schedule plugin',
    start: '',
    failed: 'error executing schedule plugin',
  },
  request: {
    plugin: 'request plugin',
    start: 'starting execution of request plugin.',
    failed: 'error running request plugin',
  },
} as const satisfies Record<
  PluginInput['kind'],
  { readonly plugin: string; readonly start: string; readonly failed: string }
>;
