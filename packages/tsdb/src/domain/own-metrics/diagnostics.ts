import { availableParallelism, hostname } from 'node:os';
import { goDuration } from '@plinth/tsdb-influxql/show/go-duration.js';
import type { Diagnostic } from '@plinth/tsdb-influxql/show/show-server.js';

/** Go's names of the architectures. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function readDiagnostics(options: {
  readonly version: string;
  readonly commit: string;
  readonly startedMs: number;
  readonly nowMs: number;
}): readonly Diagnostic[] {
  const upSec = Math.max(0, Math.floor((options.nowMs - options.startedMs) / 1000));
  return [
    {
      name: 'build',
      values: { Branch: '', 'Build Time': '', Commit: options.commit, Version: options.version },
    },
    { name: 'network', values: { hostname: hostname() } },
    {
      name: 'runtime',
      values: {
        GOARCH: GO_ARCHITECTURES[process.arch] ?? process.arch,
        GOMAXPROCS: availableParallelism(),
        GOOS: process.platform,
        version: process.version,
      },
    },
    {
      name: 'system',
      values: {
        PID: process.pid,
        currentTime: new Date(options.nowMs).toISOString(),
        started: new Date(options.startedMs).toISOString(),
        uptime: goDuration(BigInt(upSec) * 1_000_000_000n),
      },
    },
  ];
}
