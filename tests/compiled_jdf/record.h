/* What the bodies of constructs.jdf write down of themselves. */
#ifndef RECORD_H
#define RECORD_H
#ifdef __cplusplus
extern "C" {
#endif
struct diary;
enum mode { mode_plain = 3, mode_other = 5 };
/* A task that has run, its indices, and a number that it has found. */
void record(struct diary *diary, const char *task_class, int indices, int first, int second, double found);
#ifdef __cplusplus
}
#endif
#endif
