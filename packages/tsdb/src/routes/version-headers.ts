import type { HeaderList } from '@plinth/kernel';
import type { TsdbSettings } from '../settings/config.js';

/** Clients of version 1 read these. */
export const versionHeaders = ({ reported_version }: TsdbSettings): HeaderList => [
  ['x-influxdb-version', reported_version],
  ['x-influxdb-build', 'Core'],
];
