import type { HeaderList } from '@plinth/kernel';
import type { TsdbSettings } from '../settings/config.js';

/** Headers that 1.x clients read. */
export const versionHeaders = ({ reported_version }: TsdbSettings): HeaderList => [
  ['x-influxdb-version', reported_version],
  ['x-influxdb-build', 'Core'],
];
