/*
 * Made by mrpcc from paths.proto: do not edit.
 * What mrpcc adds may be used under any license.
 */
#ifndef PATHS_MRPC_BPF_H
#define PATHS_MRPC_BPF_H

#ifndef SUB_COMMON_MRPC_CONSTANTS
#define SUB_COMMON_MRPC_CONSTANTS

enum test_common_Colour {
	test_common_COLOUR_NONE = 0,
	test_common_COLOUR_RED = 1,
	test_common_COLOUR_DEEP = -2147483647 - 1,
};

#endif /* SUB_COMMON_MRPC_CONSTANTS */

#ifndef PATHS_MRPC_CONSTANTS
#define PATHS_MRPC_CONSTANTS

/* Methods of service paths.Get */
enum paths_Get_method {
	paths_Get_METHOD_First = 0,
	paths_Get_METHOD_second = 1,
};

#endif /* PATHS_MRPC_CONSTANTS */

#define PATHS_GET_SERVICE "paths.Get"

/* -- message paths.Request -- */

#define PATHS_REQUEST__ITEMS_COUNT_ "paths.Request:items#" /* how many there are */
#define PATHS_REQUEST__ITEMS(i) "paths.Request:items[" #i "]" /* uint32 */
#define PATHS_REQUEST__ITEMS_COUNT "paths.Request:items_count" /* uint32 */
#define PATHS_REQUEST__NAME "paths.Request:name" /* string */
#define PATHS_REQUEST__NAME_LEN_ "paths.Request:name#" /* bytes of it */
#define PATHS_REQUEST__NAME_LEN "paths.Request:NAME_len" /* uint32 */
#define PATHS_REQUEST__COLOUR "paths.Request:colour" /* enum test_common_Colour */
#define PATHS_REQUEST__FAST "paths.Request:fast" /* bool */
#define PATHS_REQUEST__RAW "paths.Request:raw" /* bytes */
#define PATHS_REQUEST__RAW_LEN "paths.Request:raw#" /* bytes of it */
#define PATHS_REQUEST__DEEP "paths.Request:deep" /* message paths.Deep */
#define PATHS_REQUEST__DEEP__ONE "paths.Request:deep.one" /* message paths.Deeper */
#define PATHS_REQUEST__DEEP__ONE__TWO "paths.Request:deep.one.two" /* message paths.Deepest */
#define PATHS_REQUEST__DEEP__ONE__TWO__THREE "paths.Request:deep.one.two.three" /* int32 */
#define PATHS_REQUEST__DEEP__ONE__TWO__UP "paths.Request:deep.one.two.up" /* message paths.Deeper */
#define PATHS_REQUEST__DEEP__ONE__TWO__LAST \
	"paths.Request:deep.one.two.last" /* message paths.Last */
#define PATHS_REQUEST__DEEP__ONE__FLAGS_COUNT \
	"paths.Request:deep.one.flags#" /* how many there are */
#define PATHS_REQUEST__DEEP__ONE__FLAGS(key) "paths.Request:deep.one.flags[" #key "]" /* bool */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXX \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxx" /* string */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXX_LEN \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxx#" /* bytes of it */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy" /* message paths.Deep */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one" /* message paths.Deeper */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__TWO \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.two" /* message paths.Deepest */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__TWO__THREE \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.two.three" /* int32 */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__TWO__UP \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.two.up" /* message paths.Deeper */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__TWO__LAST \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.two.last" /* message paths.Last */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__FLAGS_COUNT \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.flags#" /* how many there are */
#define PATHS_REQUEST__JUST_AS_LONG_AS_A_PATH_MAY_BE_WHEN_IT_IS_NOT_THAT_OF_ITS_LENGTH_XXXXXXXXXXXXXXXXYY__ONE__FLAGS(key) \
	"paths.Request:just_as_long_as_a_path_may_be_when_it_is_not_that_of_its_length_xxxxxxxxxxxxxxxxyy.one.flags[" #key "]" /* bool */

/* -- message paths.Reply -- */

#define PATHS_REPLY__BY_TEXT_COUNT "paths.Reply:by_text#" /* how many there are */
#define PATHS_REPLY__BY_TEXT(text) \
	"paths.Reply:by_text[\"" text "\"]" /* message paths.Reply.Level */
#define PATHS_REPLY__BY_TEXT__PARTS_COUNT(text) \
	"paths.Reply:by_text[\"" text "\"].parts#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__PARTS(text, i) \
	"paths.Reply:by_text[\"" text "\"].parts[" #i "]" /* bytes */
#define PATHS_REPLY__BY_TEXT__PARTS_LEN(text, i) \
	"paths.Reply:by_text[\"" text "\"].parts[" #i "]#" /* bytes of it */
#define PATHS_REPLY__BY_TEXT__BELOW_COUNT(text) \
	"paths.Reply:by_text[\"" text "\"].below#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__BELOW(text, text2) \
	"paths.Reply:by_text[\"" text "\"].below[\"" text2 "\"]" /* message paths.Reply.Level */
#define PATHS_REPLY__BY_TEXT__DEEP_COUNT(text) \
	"paths.Reply:by_text[\"" text "\"].deep#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__DEEP(text, text2) \
	"paths.Reply:by_text[\"" text "\"].deep[\"" text2 "\"]" /* message paths.Deep */
#define PATHS_REPLY__BY_TEXT__DEEP__ONE(text, text2) \
	"paths.Reply:by_text[\"" text "\"].deep[\"" text2 "\"].one" /* message paths.Deeper */
#define PATHS_REPLY__BY_TEXT__DEEP__ONE__TWO(text, text2) \
	"paths.Reply:by_text[\"" text "\"].deep[\"" text2 "\"].one.two" /* message paths.Deepest */
#define PATHS_REPLY__BY_TEXT__DEEP__ONE__FLAGS_COUNT(text, text2) \
	"paths.Reply:by_text[\"" text "\"].deep[\"" text2 "\"].one.flags#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__DEEP__ONE__FLAGS(text, text2, key) \
	"paths.Reply:by_text[\"" text "\"].deep[\"" text2 "\"].one.flags[" #key "]" /* bool */
#define PATHS_REPLY__BY_TEXT__LIST_COUNT(text) \
	"paths.Reply:by_text[\"" text "\"].list#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__LIST(text, i) \
	"paths.Reply:by_text[\"" text "\"].list[" #i "]" /* message paths.Deep */
#define PATHS_REPLY__BY_TEXT__LIST__ONE(text, i) \
	"paths.Reply:by_text[\"" text "\"].list[" #i "].one" /* message paths.Deeper */
#define PATHS_REPLY__BY_TEXT__LIST__ONE__TWO(text, i) \
	"paths.Reply:by_text[\"" text "\"].list[" #i "].one.two" /* message paths.Deepest */
#define PATHS_REPLY__BY_TEXT__LIST__ONE__FLAGS_COUNT(text, i) \
	"paths.Reply:by_text[\"" text "\"].list[" #i "].one.flags#" /* how many there are */
#define PATHS_REPLY__BY_TEXT__LIST__ONE__FLAGS(text, i, key) \
	"paths.Reply:by_text[\"" text "\"].list[" #i "].one.flags[" #key "]" /* bool */
#define PATHS_REPLY__BY_NUMBER_COUNT "paths.Reply:by_number#" /* how many there are */
#define PATHS_REPLY__BY_NUMBER(key) "paths.Reply:by_number[" #key "]" /* string */
#define PATHS_REPLY__BY_NUMBER_LEN(key) "paths.Reply:by_number[" #key "]#" /* bytes of it */
#define PATHS_REPLY__BY_TRUTH_COUNT "paths.Reply:by_truth#" /* how many there are */
#define PATHS_REPLY__BY_TRUTH(key) "paths.Reply:by_truth[" #key "]" /* float */
#define PATHS_REPLY__LEVELS_COUNT "paths.Reply:levels#" /* how many there are */
#define PATHS_REPLY__LEVELS(i) "paths.Reply:levels[" #i "]" /* message paths.Reply.Level */
#define PATHS_REPLY__LEVELS__PARTS_COUNT(i) \
	"paths.Reply:levels[" #i "].parts#" /* how many there are */
#define PATHS_REPLY__LEVELS__PARTS(i, i2) "paths.Reply:levels[" #i "].parts[" #i2 "]" /* bytes */
#define PATHS_REPLY__LEVELS__PARTS_LEN(i, i2) \
	"paths.Reply:levels[" #i "].parts[" #i2 "]#" /* bytes of it */
#define PATHS_REPLY__LEVELS__BELOW_COUNT(i) \
	"paths.Reply:levels[" #i "].below#" /* how many there are */
#define PATHS_REPLY__LEVELS__BELOW(i, text) \
	"paths.Reply:levels[" #i "].below[\"" text "\"]" /* message paths.Reply.Level */
#define PATHS_REPLY__LEVELS__DEEP_COUNT(i) \
	"paths.Reply:levels[" #i "].deep#" /* how many there are */
#define PATHS_REPLY__LEVELS__DEEP(i, text) \
	"paths.Reply:levels[" #i "].deep[\"" text "\"]" /* message paths.Deep */
#define PATHS_REPLY__LEVELS__DEEP__ONE(i, text) \
	"paths.Reply:levels[" #i "].deep[\"" text "\"].one" /* message paths.Deeper */
#define PATHS_REPLY__LEVELS__DEEP__ONE__TWO(i, text) \
	"paths.Reply:levels[" #i "].deep[\"" text "\"].one.two" /* message paths.Deepest */
#define PATHS_REPLY__LEVELS__DEEP__ONE__FLAGS_COUNT(i, text) \
	"paths.Reply:levels[" #i "].deep[\"" text "\"].one.flags#" /* how many there are */
#define PATHS_REPLY__LEVELS__DEEP__ONE__FLAGS(i, text, key) \
	"paths.Reply:levels[" #i "].deep[\"" text "\"].one.flags[" #key "]" /* bool */
#define PATHS_REPLY__LEVELS__LIST_COUNT(i) \
	"paths.Reply:levels[" #i "].list#" /* how many there are */
#define PATHS_REPLY__LEVELS__LIST(i, i2) \
	"paths.Reply:levels[" #i "].list[" #i2 "]" /* message paths.Deep */
#define PATHS_REPLY__LEVELS__LIST__ONE(i, i2) \
	"paths.Reply:levels[" #i "].list[" #i2 "].one" /* message paths.Deeper */
#define PATHS_REPLY__LEVELS__LIST__ONE__TWO(i, i2) \
	"paths.Reply:levels[" #i "].list[" #i2 "].one.two" /* message paths.Deepest */
#define PATHS_REPLY__LEVELS__LIST__ONE__FLAGS_COUNT(i, i2) \
	"paths.Reply:levels[" #i "].list[" #i2 "].one.flags#" /* how many there are */
#define PATHS_REPLY__LEVELS__LIST__ONE__FLAGS(i, i2, key) \
	"paths.Reply:levels[" #i "].list[" #i2 "].one.flags[" #key "]" /* bool */
#define PATHS_REPLY__AGAIN "paths.Reply:again" /* message paths.Reply */

#endif /* PATHS_MRPC_BPF_H */
