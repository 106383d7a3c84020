// Rewrites the links of a page for a place that holds only some files of the repository.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const REPOSITORY = 'nestjs-session-auth/nestjs-session-auth';
export const REPOSITORY_URL = `https://github.com/${REPOSITORY}`;
/** The files of the repository as they are, by branch or tag and path. */
export const RAW_URL = `https://raw.githubusercontent.com/${REPOSITORY}`;
/** The site of `main`, without the last slash. */
export const SITE_URL = 'https://nestjs-session-auth.github.io/nestjs-session-auth';
const IMAGE = /\.(?:png|svg)$/;
/**
 * Targets of links and images, in Markdown and in HTML. Links with a scheme, and to a heading of the same
 * page, are left alone.
 */
const LINK = /(\]\(|\b(?:src|srcset)=")(?!\w+:|#)([^)"\s#]+)/g;

/**
 * Reads a page. Relative links to files outside the place become links to the repository; one to a missing
 * file throws.
 * @param page - path within the repository
 * @param place.files - paths of the files that the place holds
 * @param place.ref - branch or tag of the repository that other links lead to
 */
export function readPageFor(page, { files, ref }) {
  return readFileSync(join(root, page), 'utf8').replace(LINK, (link, before, target) => {
    const path = join(dirname(page), target);
    if (!existsSync(join(root, path))) throw new Error(`${page} links to ${target}, which does not exist`);
    return files.includes(path) ? link : before + urlOf(path, ref);
  });
}

/** The relative links and images of a page, as paths within its place. */
export function relativeLinks(page, text) {
  return [...text.matchAll(LINK)].map(([, , target]) => join(dirname(page), target));
}

function urlOf(path, ref) {
  return IMAGE.test(path) ? `${RAW_URL}/${ref}/${path}` : `${REPOSITORY_URL}/blob/${ref}/${path}`;
}
