import { type VNode } from 'preact';
import { useState } from 'preact/hooks';

/** The part of a stream that has arrived. */
interface Stream {
  readonly events: number;
  /** Why it is over; undefined: it is open. */
  readonly end?: string;
}

/** Renders a stream of events, which ends with the session that has opened it. */
export function OpenStream({ token }: { readonly token: string | undefined }): VNode {
  const [stream, setStream] = useState<Stream>();
  const isOpen = stream !== undefined && stream.end === undefined;
  return (
    <section class="control" aria-labelledby="stream">
      <h3 id="stream">Stream</h3>
      <button type="button" disabled={isOpen} onClick={() => void read(token, setStream)}>
        Open a stream
      </button>
      <p class="hint" aria-live={isOpen ? 'off' : 'polite'}>
        {stream ? textOf(stream) : 'Open one, then sign out: it ends at once, on every instance.'}
      </p>
    </section>
  );
}

function textOf({ events, end }: Stream): string {
  return end === undefined
    ? `Open: ${events} events. Sign out, and it ends.`
    : `Over after ${events} events: ${end}.`;
}

/** EventSource sends no header, so the page reads the events itself. */
async function read(token: string | undefined, show: (stream: Stream) => void): Promise<void> {
  show({ events: 0 });
  const reply = await fetch(
    '/api/news',
    token === undefined ? {} : { headers: { 'X-AUTH-TOKEN': token } },
  ).catch(() => undefined);
  if (!reply?.ok || !reply.body) {
    show({ events: 0, end: reply ? `${reply.status} ${reply.statusText}` : 'no reply' });
    return;
  }
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const events = (): number => text.match(/^data: news/gm)?.length ?? 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      show({ events: events() });
    }
  } catch {
    // It was cut: its end has no event.
  }
  const code = /^event: session-ended\ndata: .*"code":"(\w+)"/m.exec(text)?.[1];
  show({ events: events(), end: code === undefined ? 'cut' : `session-ended, ${code}` });
}
