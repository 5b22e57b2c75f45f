/** Every path of the service with its methods: what a wrong method is answered with. Source: accounts, section 7. */
const PATHS: readonly (readonly [pattern: RegExp, methods: readonly string[]])[] = [
  [/^\/v2\/core\/accounts$/, ['GET', 'POST']],
  [/^\/v2\/core\/accounts\/[^/]+$/, ['GET', 'POST']],
  [/^\/v2\/core\/accounts\/[^/]+\/close$/, ['POST']],
  [/^\/v2\/core\/accounts\/[^/]+\/persons$/, ['GET', 'POST']],
  [/^\/v2\/core\/accounts\/[^/]+\/persons\/[^/]+$/, ['DELETE', 'GET', 'POST']],
  [/^\/v2\/core\/accounts\/[^/]+\/person_tokens$/, ['POST']],
  [/^\/v2\/core\/accounts\/[^/]+\/person_tokens\/[^/]+$/, ['GET']],
  [/^\/v2\/core\/account_tokens$/, ['POST']],
  [/^\/v2\/core\/account_tokens\/[^/]+$/, ['GET']],
  [/^\/v2\/core\/events$/, ['GET']],
  [/^\/v2\/core\/events\/[^/]+$/, ['GET']],
  [/^\/v2\/core\/event_destinations$/, ['GET', 'POST']],
  [/^\/v2\/core\/event_destinations\/[^/]+$/, ['DELETE', 'GET', 'POST']],
  [/^\/v2\/core\/event_destinations\/[^/]+\/(enable|disable|ping)$/, ['POST']],
  [/^\/v1\/test_helpers\/test_clocks$/, ['GET', 'POST']],
  [/^\/v1\/test_helpers\/test_clocks\/[^/]+$/, ['DELETE', 'GET']],
  [/^\/v1\/test_helpers\/test_clocks\/[^/]+\/advance$/, ['POST']],
  [/^\/docs\/accounts\/errors$/, ['GET']],
  [/^\/ops\/v1\/accounts\/platforms$/, ['GET', 'POST']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+$/, ['DELETE', 'GET', 'PATCH']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/keys$/, ['GET', 'POST']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/keys\/[^/]+$/, ['DELETE']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts$/, ['GET']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts\/[^/]+$/, ['GET']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts\/[^/]+\/close$/, ['POST']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts\/[^/]+\/state$/, ['PATCH']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts\/[^/]+\/requirements$/, ['POST']],
  [/^\/ops\/v1\/accounts\/platforms\/[^/]+\/accounts\/[^/]+\/requirements\/[^/]+$/, ['DELETE']],
  [
    /^\/ops\/v1\/accounts\/platforms\/[^/]+\/(files|payment_methods|invoice_templates|test_clocks|tick)$/,
    ['POST'],
  ],
  [/^\/ops\/v1\/accounts\/rotate_key$/, ['POST']],
];

/** Empty for a path that nobody has. */
export function allowedMethods(path: string): readonly string[] {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? [];
}
