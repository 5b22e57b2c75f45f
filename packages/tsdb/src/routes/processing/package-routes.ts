import type { Route } from '@plinth/kernel';
import type { RouteDeps } from '../deps.js';

const PATH = '/api/v3/configure/plugin_environment';

/** Answers when the installer has ended. Source: processing-engine, "HTTP API"; tsdb-http, "Package installation". */
export function packageRoutes({ processing, admin }: RouteDeps): readonly Route[] {
  const { packages } = processing;
  return [
    admin.command('POST', `${PATH}/install_packages`, (input) =>
      packages.install(input.requiredTexts('packages')),
    ),
    admin.command('POST', `${PATH}/install_requirements`, (input) =>
      packages.installRequirements(input.requiredText('requirements_location')),
    ),
  ];
}
