/** The one thing that needs a script: to find an operation by typing. Without it all of them are there. */
export const docsScript = String.raw`
const find = document.querySelector('.find');
const none = document.querySelector('.none');
const operations = [...document.querySelectorAll('.operation')];
const places = [...document.querySelectorAll('.place')];
const links = new Map([...document.querySelectorAll('nav li[data-of]')].map((link) => [link.dataset.of, link]));
function narrow() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const one of operations) {
    const isFound = words.every((word) => one.dataset.find.includes(word));
    one.hidden = !isFound;
    const link = links.get(one.id);
    if (link) link.hidden = !isFound;
    if (isFound) shown += 1;
  }
  for (const place of places) {
    const within = place.querySelectorAll('.operation');
    place.hidden = within.length > 0 ? [...within].every((one) => one.hidden) : words.length > 0;
  }
  none.hidden = shown > 0;
}
find.hidden = false;
find.addEventListener('input', narrow);
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.closest('[hidden]')) {
    find.value = '';
    narrow();
    target.scrollIntoView();
  }
});
const wide = matchMedia('(min-width: 1000px)');
const contents = document.querySelector('nav details');
const unfold = () => { contents.open = wide.matches; };
wide.addEventListener('change', unfold);
unfold();
`;
