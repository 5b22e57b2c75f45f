import type { PluginInput } from '../../../model/plugins/plugin-host.js';

/** Texts of the engine's own log lines. */
export const TRIGGER_WORDS = {
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
