import { type VNode } from 'preact';
import { type RouteSources } from '../../src/console/messages.js';
import { answerOf } from '../backend/answer.js';
import { type Exchange } from '../backend/exchange.js';
import { explain } from '../backend/explain.js';
import { duration } from '../text.js';
import { SourceView } from './source-view.js';
import { StatusChip } from './status-chip.js';

interface LastReplyProps {
  readonly exchange: Exchange | undefined;
  readonly sources: RouteSources | undefined;
}

/**
 * Renders the last reply, and who answered its check. Screen readers announce it with its number, since they
 * would skip a repeated text.
 */
export function LastReply({ exchange, sources }: LastReplyProps): VNode {
  return (
    <section class="control reply" aria-labelledby="last-reply">
      <h3 id="last-reply">Last reply</h3>
      <p class="visually-hidden" aria-live="polite">
        {exchange &&
          `Call ${exchange.number}: ${exchange.route}: ${exchange.statusText}. ${answerOf(exchange)} ${explain(exchange)}`}
      </p>
      {exchange ? (
        <Shown exchange={exchange} source={sources?.[exchange.route]} />
      ) : (
        <p class="hint">Nothing yet. Choose who sends, then a route; without a session, see a denial.</p>
      )}
    </section>
  );
}

function Shown({
  exchange,
  source,
}: {
  readonly exchange: Exchange;
  readonly source: RouteSources[string] | undefined;
}): VNode {
  const reply = [
    ...[exchange.statusText, exchange.headers].filter(Boolean),
    '',
    exchange.body || '(no body)',
  ];
  return (
    <div class="exchange" data-class={String(exchange.status).charAt(0)}>
      <p>
        <code>{exchange.route}</code> <StatusChip status={exchange.status} text={exchange.statusText} />{' '}
        <small>{duration(exchange.tookMs)} in this browser</small>
      </p>
      <p class="answer">{answerOf(exchange)}</p>
      <p>{explain(exchange)}</p>
      <details>
        <summary>Request, reply and source</summary>
        <Block label="Request" text={exchange.request} />
        <Block label="Reply" text={reply.join('\n')} />
        {source && <SourceView file={source.file} source={source.source} />}
      </details>
    </div>
  );
}

function Block({ label, text }: { readonly label: string; readonly text: string }): VNode {
  return (
    <>
      <h4>{label}</h4>
      <pre class="wrap" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </>
  );
}
