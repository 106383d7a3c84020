import type { WatchParts } from '../guard/open-reply.js';

/** Loaded with the first reply that is written in parts. */
let endWithSession: WatchParts['replyOpened'] | undefined;

/** Ends a reply with its session. */
export const replyOpened: WatchParts['replyOpened'] = (response, reply) => {
  if (endWithSession) {
    endWithSession(response, reply);
    return;
  }
  response.cork?.();
  void import('../open/open-replies.js').then((loaded) => {
    ({ endWithSession } = loaded);
    loaded.endWithSession(response, reply);
    response.uncork?.();
  });
};
