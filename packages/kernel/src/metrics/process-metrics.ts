import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { fileLimit } from '../fs/file-limit.js';
import type { Metric } from './metric.js';

/** The probe interval of the event loop; shorter delays are not visible. */
const PROBE_INTERVAL_MS = 10;

const NS_PER_SEC = 1e9;

/**
 * Adds metrics of the process and its event loop. The names match the metrics of other Node services, so that
 * dashboards work.
 */
export function observeProcess(add: (metric: Metric) => void): Disposable {
  const delays = monitorEventLoopDelay({ resolution: PROBE_INTERVAL_MS });
  delays.enable();
  const gauge = (name: string, help: string, read: () => number): void =>
    add({ name, help, type: 'gauge', samples: () => [{ value: read() }] });

  add({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, user and system.',
    type: 'counter',
    samples() {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / 1e6 }];
    },
  });
  gauge(
    'process_start_time_seconds',
    'Start time of the process since 1970-01-01 UTC.',
    () => performance.timeOrigin / 1000,
  );
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  // Only Linux provides these; elsewhere they have no sample.
  add({
    name: 'process_open_fds',
    help: 'Open file descriptors, including connections.',
    type: 'gauge',
    async samples() {
      const open = await readdir('/proc/self/fd').catch(() => undefined);
      // One descriptor belongs to the folder being read.
      return open === undefined ? [] : [{ value: open.length - 1 }];
    },
  });
  add({
    name: 'process_max_fds',
    help: 'Maximum number of open file descriptors.',
    type: 'gauge',
    samples() {
      const value = fileLimit();
      return value === undefined ? [] : [{ value }];
    },
  });
  gauge(
    'nodejs_heap_size_used_bytes',
    'JavaScript heap in use.',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers outside the JavaScript heap.',
    () => process.memoryUsage().external,
  );
  add({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Event loop delay since the last scrape.',
    type: 'summary',
    labels: ['quantile'],
    samples() {
      // Without a probe, the histogram has a NaN mean and an invalid minimum.
      const hasProbes = delays.count > 0;
      const sample = (quantile: string, ns: number) => ({
        labels: { quantile },
        value: hasProbes ? lagSec(ns) : 0,
      });
      const samples = [
        ...['0.5', '0.9', '0.99'].map((q) => sample(q, delays.percentile(Number(q) * 100))),
        sample('1', delays.max),
      ];
      delays.reset();
      return samples;
    },
  });
  return {
    [Symbol.dispose]: () => {
      delays.disable();
    },
  };
}

/** The probe measures the time between two ticks, so its interval is subtracted. */
const lagSec = (ns: number): number => Math.max(0, ns / NS_PER_SEC - PROBE_INTERVAL_MS / 1000);
