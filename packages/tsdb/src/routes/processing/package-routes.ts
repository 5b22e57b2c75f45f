import type { Route, RouteDocs } from '@plinth/kernel';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { PROCESSING_FAILED } from '../description.js';

const PATH = '/api/v3/configure/plugin_environment';

const PACKAGES: RouteDocs = {
  summary: 'Install Python packages and wait for the result',
  body: Type.Object({ packages: Type.Array(Type.String()) }),
  errors: PROCESSING_FAILED,
};
const REQUIREMENTS: RouteDocs = {
  summary: 'Install the packages of a requirements file',
  body: Type.Object({
    requirements_location: Type.String({
      description: 'path of a requirements file, absolute or in the plugin folder',
    }),
  }),
  errors: PROCESSING_FAILED,
};

/**
 * These routes respond when the installer has finished. Source: processing-engine, "HTTP API";
 * tsdb-http, "Package installation".
 */
export function packageRoutes({ processing, routeBuilder }: RouteDeps): readonly Route[] {
  const { packages } = processing;
  return [
    routeBuilder.command('POST', `${PATH}/install_packages`, PACKAGES, (input) =>
      packages.install(input.requiredTexts('packages')),
    ),
    routeBuilder.command('POST', `${PATH}/install_requirements`, REQUIREMENTS, (input) =>
      packages.installRequirements(input.requiredText('requirements_location')),
    ),
  ];
}
