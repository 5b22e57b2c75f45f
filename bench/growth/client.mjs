import { once } from 'node:events';
import http from 'node:http';

const MAX_SOCKETS = 8;

/** HTTP client for one server with keep-alive connections, like a database client. */
export class Client {
  #url;
  #agent = new http.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  constructor(url) {
    this.#url = url;
  }

  close() {
    this.#agent.destroy();
  }

  async send(method, target, sent) {
    const request = http.request(new URL(target, this.#url), { method, agent: this.#agent });
    request.end(sent);
    const [answer] = await once(request, 'response');
    const pieces = await answer.toArray();
    return { status: answer.statusCode, text: Buffer.concat(pieces).toString() };
  }

  async call(method, target, sent) {
    const { status, text } = await this.send(method, target, sent);
    if (status >= 300) throw new Error(`${method} ${target}: ${status} ${text.slice(0, 300)}`);
    return text;
  }

  async json(method, target) {
    return JSON.parse(await this.call(method, target));
  }
}
