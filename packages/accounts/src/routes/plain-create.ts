import {
  invariant,
  type PlainAnswer,
  type PlainFront,
  type PlainRequest,
  type PlainRoute,
  type Principal,
} from '@plinth/kernel';
import type { MutationAnswer } from '../domain/mutations.js';
import type { RequestContext } from '../domain/request-context.js';
import { AccountsRefused } from '../model/violation.js';
import type { AccountsFront } from './front.js';
import { answerChange, type Call, type ChangeNeeds } from './handlers.js';
import type { HeaderSink } from './incoming.js';
import { type ErrorDialect, JSON_TYPE, wireRefusal } from './to-wire.js';

export const CREATE_PATH = '/v2/core/accounts';

/** What the official clients send and nobody reads, beside what is read. Source: accounts, section 2.2. */
const CLIENT_HEADERS = [
  'api-context',
  'idempotency-key',
  'stripe-account',
  'stripe-context',
  'stripe-request-trigger',
  'x-stripe-client-telemetry',
  'x-stripe-client-user-agent',
];

interface PlainCreateNeeds {
  readonly front: AccountsFront;
  readonly dialect: ErrorDialect;
  readonly headerPrefixes: readonly string[];
  readonly serviceName: string;
  readonly changes: ChangeNeeds;
  readonly create: (call: Call) => Promise<MutationAnswer>;
}

/** Creating an account without the framework: what it costs is a third of a create. */
export class PlainCreate implements PlainRoute {
  readonly path = CREATE_PATH;
  readonly access = 'platform';
  readonly methods = ['POST'] as const;
  readonly front: PlainFront;
  readonly #needs: PlainCreateNeeds;
  readonly #contexts = new WeakMap<PlainRequest, RequestContext>();

  constructor(needs: PlainCreateNeeds) {
    this.#needs = needs;
    const versions = needs.headerPrefixes.map((prefix) => `${prefix.toLowerCase()}-version`);
    this.front = {
      service: needs.serviceName,
      headers: new Set([...CLIENT_HEADERS, ...versions]),
      headsRecur: false, // An idempotency key makes each another.
      identify: (request) => this.#identify(request),
    };
  }

  async answer(request: PlainRequest): Promise<PlainAnswer> {
    const { front, dialect, changes, create } = this.#needs;
    const context = this.#contexts.get(request);
    invariant(context !== undefined, 'a plain create was admitted');
    const sink = new HeaderList();
    front.setHeaders(request, sink);
    try {
      const call = { context, request, param: () => '' };
      const json = await answerChange(call, { handle: create, sink, ...changes });
      return sink.answer(200, json);
    } catch (error) {
      const { url, base } = request;
      const { status, json } = wireRefusal(error, { url, base, sink }, dialect);
      return sink.answer(status, json);
    }
  }

  #identify(request: PlainRequest): Principal | undefined {
    try {
      this.#contexts.set(request, this.#needs.front.contextOf(request, 'secret'));
      return this.#needs.front.principalOf(request);
    } catch (error) {
      if (error instanceof AccountsRefused) return undefined;
      throw error;
    }
  }
}

class HeaderList implements HeaderSink {
  readonly #headers = new Map<string, string>();

  header(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), value);
  }

  answer(status: number, json: string): PlainAnswer {
    this.header('content-type', JSON_TYPE);
    return { status, headers: [...this.#headers], body: Buffer.from(json) };
  }
}
