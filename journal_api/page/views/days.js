// #/days: the texts of a week or a month one below the other.
export async function view() {
  return [];
}
