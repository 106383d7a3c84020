// A plugin of TypeDoc: the search of the site finds a name by its words (`current user`), and a guide by the
// words that its readers use for the task, where the guide has others.
import { IndexEvent } from 'typedoc';

const WORDS = new Map([
  ['Quick start', 'install log in login log out logout 401'],
  ['Several session services', 'multiple services tenant multi-tenant'],
  ['Testing', 'test a guard guarded handler mock e2e'],
  ['Errors', '401 403 429 503 unauthorized forbidden exception filter'],
  ['Troubleshooting', '503 error message debug'],
  ['Sessions that end elsewhere', 'invalidate revoke expire log out logout'],
  ['Caching', 'cache ttl'],
  ['Roles and scopes', 'role policy permission authorize rbac'],
  ['Configuration', 'options timeout retry settings environment'],
  ['WebSockets', 'websocket gateway socket.io ws'],
  ['Microservices', 'kafka rabbitmq grpc nats message'],
  ['Operations', 'prometheus metrics health monitoring logs 503 outage down failure'],
]);

export function load(app) {
  app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchFieldWeights, searchFields, searchResults }) => {
    searchFieldWeights.words = 10;
    const left = new Map(WORDS);
    searchResults.forEach((found, index) => {
      searchFields[index].words = left.get(found.name) ?? found.name.replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
      if (found.isDocument()) left.delete(found.name);
    });
    for (const name of left.keys()) app.logger.warn(`tools/search-words.mjs names no page: ${name}`);
  });
}
