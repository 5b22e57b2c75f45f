import { networkProblems } from '@plinth/kernel';
import { isLimitedService, type RateLimitConfig } from './config.js';
import { ResourceTable } from './model/resource.js';

/** Returns the problems in the settings, one per line. */
export function rateLimitProblems(
  config: Pick<RateLimitConfig, 'resources' | 'report' | 'services' | 'exempt_cidrs'>,
): readonly string[] {
  const resources = new ResourceTable(config.resources);
  const known = resources.all.map(({ name }) => name).join(', ');
  const unknown = (setting: string, names: readonly string[]): string[] =>
    names
      .filter((name) => resources.find(name) === undefined)
      .map((name) => `${setting}: unknown resource ${name}; use one of ${known}`);
  const ofServices = Object.values(config.services).flatMap(({ resource }) => resource ?? []);
  return [
    ...networkProblems('rate_limit.exempt_cidrs', config.exempt_cidrs),
    ...unknown('rate_limit.report', config.report),
    ...Object.keys(config.services)
      .filter((name) => !isLimitedService(name))
      .map((name) => `rate_limit.services: unknown service ${name}`),
    ...unknown('rate_limit.services', ofServices),
  ];
}
