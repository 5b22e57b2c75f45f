import type { FastifyInstance } from 'fastify';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { sendError } from '../to-wire.js';

const PATH = '/api/v3/configure/plugin_environment';

/** Answers when the installer has ended. Source: processing-engine, "HTTP API"; tsdb-http, "Package installation". */
export function registerPackageRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { packages } = deps.processing;
  const route = (url: string, act: (input: ManagementInput) => Promise<void>): void => {
    app.route({
      method: 'POST',
      url,
      errorHandler: (error, _request, reply) =>
        sendError(error, reply, { dialect: 'native', log: deps.log }),
      handler: async (request, reply) => {
        await act(ManagementInput.of(request));
        return reply.code(200).send();
      },
    });
  };
  route(`${PATH}/install_packages`, (input) => packages.install(input.requiredTexts('packages')));
  route(`${PATH}/install_requirements`, (input) =>
    packages.installRequirements(input.requiredText('requirements_location')),
  );
}
