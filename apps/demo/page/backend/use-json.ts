import { useEffect, useState } from 'preact/hooks';

/** Loads a JSON document of our own server once; undefined until it is there, or if it can't be had. */
export function useJson(path: string): unknown {
  const [document, setDocument] = useState<unknown>();
  useEffect(() => {
    const leaving = new AbortController();
    fetch(path, { signal: leaving.signal })
      .then(async (reply) => {
        if (reply.ok) setDocument(await reply.json());
      })
      .catch(() => undefined);
    return () => {
      leaving.abort();
    };
  }, [path]);
  return document;
}
