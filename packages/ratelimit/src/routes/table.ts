import type { Dialect, RouteTable } from '@plinth/kernel';
import type { EnvoyService } from '../domain/envoy-service.js';
import type { LoginGuard } from '../domain/login-guard.js';
import type { AnswerContext } from './answer.js';
import { authRoute } from './auth-route.js';
import { envoyJsonTable } from './envoy/envoy-json-route.js';
import { type OperatorDeps, operatorTable } from './operator-routes.js';
import { type MintInstallationToken, platformRoutes } from './platform-routes.js';
import { statusRoutes } from './status-routes.js';

export interface TableDeps extends OperatorDeps {
  readonly dialect: Dialect;
  /** Of everything below `/ops/v1`. */
  readonly operatorDialect: Dialect;
  /** Of what no service has a dialect for. */
  readonly serverDialect: Dialect;
  readonly envoyService: EnvoyService;
  readonly logins: LoginGuard;
  readonly mint: MintInstallationToken;
  /** No other service answers `/api/v3/meta`. */
  readonly ownsMeta: boolean;
  /** @param base address of this server as its client knows it. */
  contextOf(base: string): AnswerContext;
}

/** All that this service answers; with limits off what clients ask anyway. */
export function rateLimitTables(needs: TableDeps): readonly RouteTable[] {
  const { config, dialect, ownsMeta, mint } = needs;
  const own = {
    dialect,
    api: 'ratelimit',
    routes: [
      ...statusRoutes(needs),
      ...platformRoutes({
        ownsMeta,
        mint,
        notFound: (request) => dialect.answerNotFound(request, []),
      }),
      ...(config.enabled ? [authRoute(needs)] : []),
    ],
  };
  if (!config.enabled) return [own];
  return [
    own,
    envoyJsonTable({
      decisions: needs.envoyService,
      dialect: needs.serverDialect,
      contextOf: ({ base }) => needs.contextOf(base),
    }),
    operatorTable(needs.operatorDialect, needs),
  ];
}
